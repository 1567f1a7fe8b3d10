import { register } from 'tsx/esm/api';

// In a checkout of the repository, the packages of the engine are TypeScript, too.
if (import.meta.resolve('@mcp-saga/testing').endsWith('.ts')) register();
await import('./serve-engine.ts');
