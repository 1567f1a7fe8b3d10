import { renderPage } from '../parts/render-page.ts';
import '../page/studio.css';
import { App } from './app.tsx';
import './live.css';
import { LiveStore } from './live-store.ts';

const store = new LiveStore();
renderPage(<App store={store} />, document.querySelector('#app') as Element);
void store.follow();
