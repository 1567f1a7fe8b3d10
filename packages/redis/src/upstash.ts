import type { Scripting, UpstashRedisLike } from './redis-client.ts';

// The client parses each reply as JSON, so '1e3' would become a number. Text with the prefix is not
// JSON.
const marker = '=';

const marked = (lua: string): string => `
local function script()
${lua}
end
local function mark(reply)
  if type(reply) == 'string' then return '${marker}' .. reply end
  if type(reply) ~= 'table' or reply.err then return reply end
  for index, value in ipairs(reply) do reply[index] = mark(value) end
  return reply
end
return mark(script())
`;

function unmarked(reply: unknown): unknown {
  if (typeof reply === 'string')
    return reply.startsWith(marker) ? reply.slice(marker.length) : reply;
  return Array.isArray(reply) ? reply.map(unmarked) : reply;
}

/** Adapts a client of `@upstash/redis`. */
export function upstashScripting(client: UpstashRedisLike): Scripting {
  return {
    byText: (lua, keys, values) => read(client.eval(lua, [...keys], [...values])),
    bySha: (sha1, keys, values) => read(client.evalsha(sha1, [...keys], [...values])),
    textOf: marked,
  };
}

/** Reads a reply of a marked script. */
async function read(reply: Promise<unknown>): Promise<unknown> {
  try {
    return unmarked(await reply);
  } catch (error) {
    throw withoutCommand(error);
  }
}

/** Removes the command from an error, because it contains sealed requests. */
function withoutCommand(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const end = error.message.indexOf(', command was: ');
  return end === -1 ? error : new Error(error.message.slice(0, end));
}
