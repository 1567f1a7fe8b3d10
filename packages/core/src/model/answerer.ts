/**
 * Who may answer a question. `client`: the person or the model at the client. `model`: the model
 * that calls the tool, in the words of its next call. `fallback`: the `fallback` of the question, or
 * for a sample the host's own model.
 */
export type Answerer = 'client' | 'model' | 'fallback';
