/** Properties of sagas, with fast-check: whatever users answer and whatever fails. */
export { sagaProperty, type SagaPropertyOptions } from './explore/saga-property.ts';
export { formArbitrary } from './script/form-arbitrary.ts';
