/** One OpenTelemetry trace over all turns of a saga, in whatever processes they run. */
export { openTelemetry, type OpenTelemetryOptions } from './open-telemetry.ts';
