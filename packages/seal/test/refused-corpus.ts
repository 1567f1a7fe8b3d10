/**
 * A token that must be refused before any key is derived, by every implementation on every runtime.
 */
export interface RefusedToken {
  readonly name: string;
  /** Argument of `open`, mostly a text. */
  readonly token: unknown;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Variants of a valid token that must all be refused. The header of the valid token has the key ID
 * `k1`. Each variant has one change in otherwise valid bytes, which only a strict reader detects.
 */
export function createRefusedCorpus(good: string): readonly RefusedToken[] {
  const [header = '', , nonce = '', ciphertext = '', tag = ''] = good.split('.');
  const json = fromLatin1(header);
  const parts = { header, key: '', nonce, ciphertext, tag };
  const build = (changes: Partial<typeof parts>): string =>
    Object.values({ ...parts, ...changes }).join('.');
  const withHeader = (changed: string): string => build({ header: toLatin1(changed) });
  const edit = (from: string | RegExp, to: string): string => withHeader(json.replace(from, to));
  const corpus: Record<string, unknown> = {
    nothing: '',
    'one dot': '.',
    'dots alone': '....',
    'no text: undefined': undefined,
    'no text: null': null,
    'no text: a number': 1,
    'no text: an array of the token': [good],
    'no text: an object that prints as the token': { toString: () => good },
    'no text: a boxed string': Object(good),
    'no text: the bytes of the token': new TextEncoder().encode(good),
    'four parts': [header, '', nonce, ciphertext].join('.'),
    'six parts': `${good}.`,
    'six parts, the last one full': `${good}.AAAA`,
    'a dot at the start': `.${good}`,
    'a dot within the ciphertext': build({
      ciphertext: `${ciphertext.slice(0, 40)}.${ciphertext.slice(40)}`,
    }),
    'a dot in place of a character of the ciphertext': build({
      ciphertext: `${ciphertext.slice(0, 40)}.${ciphertext.slice(41)}`,
    }),
    'an encrypted key': build({ key: 'AAAA' }),
    'an encrypted key of one character': build({ key: 'A' }),
    'a blank encrypted key': build({ key: ' ' }),
    'a blank before': ` ${good}`,
    'a blank after': `${good} `,
    'a line break after': `${good}\n`,
    'a blank within': build({ ciphertext: `${ciphertext.slice(0, 40)} ${ciphertext.slice(40)}` }),
    'a line break within': build({
      ciphertext: `${ciphertext.slice(0, 64)}\n${ciphertext.slice(64)}`,
    }),
    'a byte order mark before': `\uFEFF${good}`,
    'a zero character after': `${good}\0`,
    'a character past one byte after': `${good}\u0141`,
    'a character past one byte that ends in the byte of a good one': build({
      ciphertext: `${String.fromCharCode(0x100 + ciphertext.charCodeAt(0))}${ciphertext.slice(1)}`,
    }),
    'the alphabet of plain base64: +': build({ ciphertext: `+${ciphertext.slice(1)}` }),
    'the alphabet of plain base64: /': build({ ciphertext: `/${ciphertext.slice(1)}` }),
    'the whole token in plain base64': good
      .replaceAll('-', '+')
      .replaceAll('_', '/')
      .replace(/[^.]$/, '='),
    'a nonce with +': build({ nonce: `+${nonce.slice(1)}` }),
    'a tag with /': build({ tag: `/${tag.slice(1)}` }),
    'a percent escape': build({ ciphertext: `%41${ciphertext.slice(3)}` }),
    'a nonce of 11 bytes': build({ nonce: nonce.slice(0, 15) }),
    'a nonce of 13 bytes': build({ nonce: `${nonce}AA` }),
    'a nonce of 16 bytes': build({ nonce: 'A'.repeat(22) }),
    'no nonce': build({ nonce: '' }),
    'a tag of 15 bytes': build({ tag: tag.slice(0, 20) }),
    'a tag of 12 bytes': build({ tag: tag.slice(0, 16) }),
    'a tag of 4 bytes': build({ tag: tag.slice(0, 6) }),
    'a tag of 17 bytes': build({ tag: `${tag.slice(0, 21)}AA` }),
    'no tag': build({ tag: '' }),
    'no ciphertext': build({ ciphertext: '' }),
    'a ciphertext one character short': build({ ciphertext: ciphertext.slice(0, -1) }),
    'a ciphertext one character long': build({ ciphertext: `${ciphertext}A` }),
    'a ciphertext one block short': build({ ciphertext: ciphertext.slice(0, -4) }),
    'a ciphertext that is huge': build({ ciphertext: 'A'.repeat(1 << 20) }),
    'a header that is huge': build({ header: 'A'.repeat(1 << 20) }),
    'no header': build({ header: '' }),
    'a header that is no JSON': withHeader('{'),
    'a header that is an array': withHeader('[]'),
    'a header that is null': withHeader('null'),
    'a header with its members re-ordered': withHeader(reorder(json)),
    'a header with an extra member': edit('}', ',"x":1}'),
    'a header with an extra member first': edit('{', '{"x":1,'),
    'a header with zip': edit('}', ',"zip":"DEF"}'),
    'a header with crit': edit('}', ',"crit":["zip"]}'),
    'a header with cty': edit('}', ',"cty":"JWT"}'),
    'a header with another alg': edit('"dir"', '"A256KW"'),
    'a header with alg none': edit('"dir"', '"none"'),
    'a header with PBES2 and its count': edit(
      '"dir"',
      '"PBES2-HS256+A128KW","p2c":1000000,"p2s":"AAAA"',
    ),
    'a header with another enc': edit('A256GCM', 'A128GCM'),
    'a header with enc by CBC': edit('A256GCM', 'A256CBC-HS512'),
    'a header with another typ': edit('saga1+jwe', 'saga2+jwe'),
    'a header with typ in capitals': edit('saga1+jwe', 'SAGA1+JWE'),
    'a header without typ': edit('"typ":"saga1+jwe",', ''),
    'a header without kid': edit('"kid":"k1",', ''),
    'a header without sid': edit(/,"sid":"[^"]*"/, ''),
    'a header with alg twice': edit('"alg":"dir"', '"alg":"dir","alg":"dir"'),
    'a header with kid twice': edit('"kid":"k1"', '"kid":"k0","kid":"k1"'),
    'a header with sid twice': edit(/,"sid":"[^"]*"/, '$&$&'),
    'a header with an unknown kid': edit('"k1"', '"k9"'),
    'a header with an empty kid': edit('"k1"', '""'),
    'a header with a kid that is a number': edit('"k1"', '1'),
    'a header with a kid that is a path': edit('"k1"', '"../k1"'),
    'a header with the kid of the prototype': edit('"k1"', '"__proto__"'),
    'a header with an escaped kid': edit('"k1"', '"\\u006b1"'),
    'a header with an escaped name': edit('"kid"', '"\\u006bid"'),
    'a header with a sid of 15 bytes': edit(/"sid":"[^"]*"/, `"sid":"${'A'.repeat(20)}"`),
    'a header with a sid of 17 bytes': edit(/"sid":"[^"]*"/, `"sid":"${'A'.repeat(23)}"`),
    'a header with an empty sid': edit(/"sid":"[^"]*"/, '"sid":""'),
    'a header with a sid with spare bits': edit(/.("})$/, 'B$1'),
    'a header with a sid with +': edit(/"sid":"./, '"sid":"+'),
    'a header with a sid with padding': edit(/..("})$/, '==$1'),
    'a header with a blank after a comma': edit(',', ', '),
    'a header with a blank at the end': withHeader(`${json} `),
    'a header with a line break at the end': withHeader(`${json}\n`),
    'a header with a byte order mark': withHeader(`\u00EF\u00BB\u00BF${json}`),
    'a header in capitals': withHeader(json.toUpperCase()),
    'a header one character short': build({ header: header.slice(0, -1) }),
    'a header with one more character': build({ header: `${header}A` }),
  };
  for (const name of ['header', 'nonce', 'ciphertext', 'tag'] as const) {
    corpus[`padding after the ${name}`] = build({ [name]: `${parts[name]}=` });
    corpus[`double padding after the ${name}`] = build({ [name]: `${parts[name]}==` });
    const spare = (parts[name].length * 6) % 8;
    if (spare !== 0)
      corpus[`spare bits at the end of the ${name}`] = build({ [name]: setLastBit(parts[name]) });
  }
  return Object.entries(corpus).map(([name, token]) => ({ name, token }));
}

function setLastBit(part: string): string {
  return `${part.slice(0, -1)}${alphabet[alphabet.indexOf(part.at(-1) ?? '') ^ 1]}`;
}

function reorder(json: string): string {
  const { alg, enc, ...others } = JSON.parse(json) as Record<string, unknown>;
  return JSON.stringify({ enc, alg, ...others });
}

function toLatin1(text: string): string {
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

function fromLatin1(part: string): string {
  return atob(part.replaceAll('-', '+').replaceAll('_', '/'));
}
