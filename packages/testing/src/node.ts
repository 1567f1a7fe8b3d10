/** Recordings in files: the gate before a deploy. */
export {
  replayRecordings,
  type RecordingFile,
  type ReplayRecordingsOptions,
} from './record/replay/recording-files.ts';
export { saveRecording } from './record/save-recording.ts';
