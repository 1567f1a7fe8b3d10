import { renderPage } from '../../parts/render-page.ts';
import { MachineApp } from './machine-app.tsx';
import { MachineStore } from './machine-store.ts';
import '../../page/studio.css';
import './machine.css';

const store = new MachineStore();
renderPage(<MachineApp store={store} />, document.querySelector('#app') as Element);
void store.load(location.hash);
addEventListener('hashchange', () => void store.load(location.hash));
