import { render } from 'preact';
import { MachineApp } from './machine-app.tsx';
import { MachineStore } from './machine-store.ts';
import '../../page/studio.css';
import './machine.css';

const store = new MachineStore();
render(<MachineApp store={store} />, document.querySelector('#app') as Element);
void store.load(location.hash);
addEventListener('hashchange', () => void store.load(location.hash));
