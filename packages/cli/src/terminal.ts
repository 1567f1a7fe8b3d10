/** Questions of a saga, asked to a person at a terminal. */
export { askPerson, type Answering } from './terminal/person.ts';
export { CliError, type CliErrorCode } from './model/errors.ts';
export { RunLeft, type Terminal } from './terminal/prompter.ts';
