/** Properties of sagas, with fast-check: whatever users answer and whatever fails. */
export { sagaProperty, type SagaPropertyOptions } from './saga-property.ts';
export { formArbitrary } from './form-arbitrary.ts';
