/**
 * Parts that the studio and the command line share. Not public: they change with any release.
 * @module
 */
export { failureReason } from './explore/baseline.ts';
export { linesOf } from './explore/upgrade-problem.ts';
export { lookOf, looks, type EventLooks } from './report/event-looks.ts';
export { svgOf } from './report/trace-svg.ts';
export { durationOf } from './report/trace.ts';
export { begin, play } from './run/play.ts';
export { recordingOf } from './run/record-run.ts';
export { Serving } from './run/run-host.ts';
export { worldAt } from './run/saga-run.ts';
export { formOf, simplestContent, type Field, type Form } from './script/form-content.ts';
export { answerWith, autoAnswerOn } from './world/world-answers.ts';
export type { AskedOutside } from './world/outside-world.ts';
export { toSource } from './script/script-source.ts';
export { World } from './world/world.ts';
export { wrapProgram } from './values/wrap-program.ts';
