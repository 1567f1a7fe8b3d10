import { serveAtOnce } from './serve-at-once.ts';

// The minimal tool on the SDK.
await serveAtOnce((service) => service);
