// A separate file, so that bundlers drop the rest of the SDK from the loaded chunk.
export { oauthMetadataResponse } from '@modelcontextprotocol/server';
