/**
 * What packages share with core that run no saga themselves, such as clients, stores, and queues:
 * errors about options. It loads no part of the engine. Not for users: any release may change it.
 * @module
 */
export { optionError, rejectUnknownOption } from './values/option-error.ts';
export {
  describeUnknownOption,
  didYouMean,
  nearestName,
  type NamesOf,
} from './values/unknown-option.ts';
