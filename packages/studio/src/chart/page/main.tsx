import { render } from 'preact';
import { MachineApp } from './machine-app.tsx';
import { MachineStore } from './machine-store.ts';
import '../../page/studio.css';
import './machine.css';

const store = new MachineStore();
const root = document.querySelector('#app');
if (root !== null) render(<MachineApp store={store} />, root);
void store.load(location.hash);
addEventListener('hashchange', () => void store.load(location.hash));
