// A file of its own, so that a bundler that loads it later leaves out the rest of the SDK.
export { oauthMetadataResponse } from '@modelcontextprotocol/server';
