// Descriptors of all effects, exported under their kinds. A new effect is one line here.
export { call } from './kinds/call.ts';
export { checkpoint } from './kinds/checkpoint.ts';
export { elicit, elicitUrl } from './kinds/elicit.ts';
export { open } from './kinds/open.ts';
export { poll } from './kinds/poll.ts';
export { info, now, random, stepKey, uuid } from './kinds/read.ts';
export { roots } from './kinds/roots.ts';
export { sample } from './kinds/sample.ts';
export { sleep } from './kinds/sleep.ts';
export { step } from './kinds/step.ts';
