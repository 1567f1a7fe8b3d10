import { render } from 'preact';
import { App } from './app.tsx';
import { Store } from './store.ts';
import './studio.css';
import './panels.css';

const store = new Store();
void store.open(location.hash);
addEventListener('hashchange', () => void store.open(location.hash));
const root = document.querySelector('#app');
if (root !== null) render(<App store={store} />, root);
