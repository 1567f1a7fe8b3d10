import { render } from 'preact';
import '../page/studio.css';
import { App } from './app.tsx';
import './live.css';
import { LiveStore } from './live-store.ts';

const store = new LiveStore();
const root = document.querySelector('#app');
if (root !== null) render(<App store={store} />, root);
void store.follow();
