/**
 * What packages share with core that run no saga themselves, such as clients, stores, and queues:
 * errors about options, text for people, and types of MCP. It loads no part of the engine. Not for
 * users: any release may change it.
 * @module
 */
export type {
  Annotations,
  AudioBlock,
  ContentBlock,
  EmbeddedResource,
  ImageBlock,
  MessageContent,
  ResourceLink,
  TextBlock,
} from './model/content.ts';
export type {
  BooleanField,
  ChoiceField,
  ChoicesField,
  EnumField,
  EnumsField,
  FormField,
  NumberField,
  TextField,
} from './values/form-field.ts';
export { durationForms, durationOption, millisecondsOf, type Duration } from './values/duration.ts';
export { unitAdvice } from './values/checked-duration.ts';
export { optionError, rejectUnknownOption } from './values/option-error.ts';
export {
  describeUnknownOption,
  didYouMean,
  nearestName,
  type NamesOf,
} from './values/unknown-option.ts';
export { lineForPeople, textForPeople } from './values/text-for-people.ts';
