/** Orders something from a server, wherever it runs: what the clients of all platforms share. */
export { connect, type ConnectOptions, createClient, inTurns } from './connect.ts';
export { signIn } from './sign-in.ts';
export { startIssuer, type Issuer } from './issuer.ts';
export { assertBound, begin, end, goOn, orderUmbrellas, type Ordered } from './order-umbrellas.ts';
export { takeTurns, type Environment } from './take-turns.ts';
