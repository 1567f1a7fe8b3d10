import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toUriTemplate } from '../src/values/uri-template.ts';

describe('a URI template', () => {
  it.each([
    ['orders://{id}', 'orders://42', { id: '42' }],
    ['orders://{id}', 'orders://a%2Fb%20%C3%A9', { id: 'a/b é' }],
    ['orders://{region}/{id}', 'orders://eu/42', { region: 'eu', id: '42' }],
    ['files:///{name}.{type}.gz', 'files:///a.b.c.gz', { name: 'a', type: 'b.c' }],
    ['all://', 'all://', {}],
    ['a:{x}-{y}', 'a:1-2-3', { x: '1', y: '2-3' }],
    ['a:{x}', 'a:__proto__', { x: '__proto__' }],
  ])('%s matches %s', (template, uri, variables) => {
    expect(toUriTemplate(template).match(uri)).toEqual(variables);
  });

  it.each([
    ['orders://{id}', 'orders://'],
    ['orders://{id}', 'orders://a/b'],
    ['orders://{id}', 'orders://a?b'],
    ['orders://{id}', 'orders://a#b'],
    ['orders://{id}', 'orders://%'],
    ['orders://{id}', 'orders://%ff'],
    ['orders://{id}', 'ORDERS://a'],
    ['orders://{id}/x', 'orders://a/y'],
    ['orders://{id}/x', 'orders:///x'],
    ['orders://{a}/{b}', 'orders://a'],
    ['orders://{a}ab', 'orders://ab'],
    ['all://', 'all://x'],
  ])('%s does not match %s', (template, uri) => {
    expect(toUriTemplate(template).match(uri)).toBeUndefined();
  });

  it.each([
    ['{id}', 'starts with a scheme'],
    ['orders', 'starts with a scheme'],
    [undefined as never, 'starts with a scheme'],
    ['orders://{+id}', "has '+id'"],
    ['orders://{?id}', "has '?id'"],
    ['orders://{id*}', "has 'id*'"],
    ['orders://{a,b}', "has 'a,b'"],
    ['orders://{}', "has ''"],
    ['orders://{id', "has 'orders://{id'"],
    ['orders://id}', "has 'orders://id}'"],
    ['orders://{id}/{id}', "has 'id' twice"],
    ['orders://{uri}', "a variable 'uri'"],
    ['orders://{a}{b}', 'needs text between two variables'],
  ])('%s is refused', (template, says) => {
    expect(() => toUriTemplate(template)).toThrow(
      expect.objectContaining({ code: 'authoring_error' }),
    );
    expect(() => toUriTemplate(template)).toThrow(says);
  });

  it('returns the texts that were inserted', () => {
    const texts = string({ minLength: 1, unit: 'grapheme' });
    const template = toUriTemplate('x://{a}/{b}/end');
    assert(
      property(texts, texts, (a, b) => {
        const uri = `x://${encodeURIComponent(a)}/${encodeURIComponent(b)}/end`;
        expect(template.match(uri)).toEqual({ a, b });
      }),
    );
  });
});
