import { log, progress, saga, SagaError, step, type ContentBlock } from '@mcp-saga/server';
import { z } from 'zod';
import { image } from './image.ts';

// A WAV file without samples.
const audio = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

const picture: ContentBlock = { type: 'image', data: image, mimeType: 'image/png' };

function text(said: string): ContentBlock {
  return { type: 'text', text: said };
}

function embedded(uri: string, mimeType: string, said: string): ContentBlock {
  return { type: 'resource', resource: { uri, mimeType, text: said } };
}

/** A tool that returns fixed content. */
function returning(name: string, description: string, ...content: readonly ContentBlock[]) {
  return saga({ name, version: '1', description }, function* () {
    return yield* step('return', () => ({ content }));
  });
}

const logging = saga(
  { name: 'test_tool_with_logging', version: '1', description: 'Logs three messages' },
  function* () {
    for (const message of ['started', 'processing', 'completed']) yield* log('info', message);
    return 'Logged';
  },
);

const withProgress = saga(
  { name: 'test_tool_with_progress', version: '1', description: 'Reports its progress' },
  function* () {
    for (const value of [0, 50, 100]) yield* progress(value, 100);
    return 'Done';
  },
);

const failing = saga(
  { name: 'test_error_handling', version: '1', description: 'Always fails' },
  function* () {
    yield* step('fail', () => {
      throw new SagaError('This tool fails on purpose');
    });
    return '';
  },
);

/**
 * Keywords of JSON Schema 2020-12 that zod has no words for. As text, since an object with `then`
 * looks like a promise.
 */
const keywords = `{
  "$schema": "https://json-schema.org/draft/2020-12/schema",
  "$defs": {
    "address": {
      "$anchor": "addressDef",
      "type": "object",
      "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
    }
  },
  "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
  "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
  "then": { "required": ["phone"] },
  "else": { "required": ["email"] }
}`;

const contact = saga(
  {
    name: 'json_schema_2020_12_tool',
    version: '1',
    description: 'Takes a contact',
    input: z
      .strictObject({
        name: z.string().optional(),
        address: z.unknown().meta({ $ref: '#/$defs/address' }),
        contactMethod: z.enum(['phone', 'email']).optional(),
        phone: z.string().optional(),
        email: z.string().optional(),
      })
      .meta(JSON.parse(keywords)),
  },
  function* () {
    return yield* step('take', () => 'Taken');
  },
);

const region = saga(
  {
    name: 'test_x_mcp_header',
    version: '1',
    description: 'Takes a region, which clients repeat in a header',
    input: z.object({ region: z.string().optional().meta({ 'x-mcp-header': 'Region' }) }),
  },
  function* ({ region: given }) {
    return yield* step('take', () => `region=${given ?? 'none'}`);
  },
);

/**
 * The tools of the scenarios `tools-*`, `json-schema-2020-12` and
 * `http-custom-header-server-validation`.
 */
export const contentSagas = [
  returning('test_simple_text', 'Returns a text', text('This is a text.')),
  returning('test_image_content', 'Returns an image', picture),
  returning('test_audio_content', 'Returns a sound', {
    type: 'audio',
    data: audio,
    mimeType: 'audio/wav',
  }),
  returning(
    'test_embedded_resource',
    'Returns a resource',
    embedded('test://embedded-resource', 'text/plain', 'This is an embedded resource.'),
  ),
  returning(
    'test_multiple_content_types',
    'Returns content of three kinds',
    text('Three kinds of content:'),
    picture,
    embedded('test://mixed-content-resource', 'application/json', '{"value":123}'),
  ),
  logging,
  withProgress,
  failing,
  contact,
  region,
] as const;
