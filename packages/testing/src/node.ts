/** Recordings in files, for runtimes that have some: the gate in front of a deploy. */
export {
  replayRecordings,
  saveRecording,
  type RecordingFile,
  type ReplayRecordingsOptions,
} from './record/replay/recording-files.ts';
