/** One OpenTelemetry trace over all turns of a saga, across processes. */
export { openTelemetry, type OpenTelemetryOptions } from './open-telemetry.ts';
