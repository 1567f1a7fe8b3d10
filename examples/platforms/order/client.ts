/** Parts of the clients of all platforms. */
export { connect, type ConnectOptions, createClient, inTurns } from './connect.ts';
export { signIn } from './sign-in.ts';
export { startIssuer, type Issuer } from './issuer.ts';
export {
  assertBound,
  assertShared,
  begin,
  end,
  goOn,
  hasStore,
  orderUmbrellas,
  type Ordered,
} from './order-umbrellas.ts';
export { takeTurns, type Environment } from './take-turns.ts';
