import { afterAll, it } from 'vitest';

afterAll(() => void setTimeout(() => console.error('unexpected after the file'), 0));

it('passes before a late log', () => undefined);
