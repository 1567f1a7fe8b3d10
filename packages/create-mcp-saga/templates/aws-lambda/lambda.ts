import { toLambdaHandler } from 'srvx/aws-lambda';
import { sagas } from './sagas.js';

export const handler = toLambdaHandler({ fetch: (request) => sagas.fetch(request) });
