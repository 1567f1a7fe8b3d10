import { code, invalid, saga, valid, type Cases } from '../support/cases.ts';

export const cases: Cases = {
  valid: [
    valid(
      `const { approved } = yield* approval('m', o); if (!approved) return 'no'; return 'yes';`,
    ),
    valid(`const decision = yield* approval('m', o); if (decision.approved) return 'yes';`),
    valid(
      `const outcome = yield* elicit.outcome('q', o); return outcome.action === 'accept' ? 1 : 2;`,
    ),
    valid(`if ((yield* elicit('q', o)).sure) return 'yes';`),
    valid(`const sure = yield* elicit('q', o); if (sure === undefined || sure == null) return 1;`),
    valid(`const { sure } = yield* elicit('q', o); if (sure === true) return 'yes';`),
    // A form that has such a field, or of which the file does not say the fields
    valid(
      `const { action } = yield* elicit('q', { message: 'm', schema: z.object({ action: z.string() }) });`,
    ),
    valid(
      `const answer = yield* elicit('q', { message: 'm', schema: Sure }); return answer.action;`,
    ),
    valid(
      `const schema = z.object({ ...fields }); return (yield* elicit('q', { message: 'm', schema })).content;`,
    ),
    valid(
      `const answer = yield* elicit.outcome('q', { message: 'm', schema: z.object({ sure: z.boolean() }) }); return answer.action;`,
    ),
    // It may hold nothing.
    valid(
      `let decision; if (input.large) decision = yield* approval('m', o); if (decision) return 1;`,
    ),
    valid(`const found = yield* step('find', () => find()); if (!found) return 'none';`),
    // Another function of this name
    { code: `function* a() { if (yield* approval('m')) return 1; }` },
    { code: code(`export const a = (approval) => { const d = approval(); if (d) return 1; };`) },
  ],
  invalid: [
    invalid(
      `const answer = yield* elicit('q', { message: 'm', schema: z.object({ sure: z.boolean() }) }); if (answer.action !== 'accept') return 'no';`,
      'accepted',
    ),
    invalid(
      `const { action } = yield* elicit('q', { message: 'm', schema: z.object({ sure: z.boolean() }) }); return action;`,
      'accepted',
    ),
    invalid(
      `return (yield* elicit('q', { message: 'm', schema: z.object({ sure: z.boolean() }) })).content.sure;`,
      'accepted',
    ),
    {
      code: code(`const Sure = z.object({ sure: z.boolean() }); const question = { message: 'm', schema: Sure };
        export default saga(o, function* () { const answer = yield* elicit('q', question); return answer.content.sure; });`),
      mistakes: ['accepted'],
    },
    invalid(`const sure = yield* elicit('q', o); if (sure === true) return 'yes';`, 'form'),
    invalid(`const sure = yield* elicit.outcome('q', o); return 'accept' == sure;`, 'decision'),
    invalid(`const sure = yield* approval('m', o); return sure !== 'approved';`, 'decision'),
    invalid(`const decision = yield* approval('m', o); if (!decision) return 'no';`, 'decision'),
    invalid(`const decision = yield* approval('m', o); if (decision) return 'yes';`, 'decision'),
    invalid(`if (yield* approval('m', o)) return 'yes';`, 'decision'),
    invalid(`return (yield* approval('m', o)) ? 'yes' : 'no';`, 'decision'),
    invalid(`const sure = yield* elicit('q', o); return sure && 'yes';`, 'form'),
    invalid(`while (!(yield* elicit('q', o))) input.count += 1;`, 'form'),
    invalid(
      `const outcome = yield* elicit.outcome('q', o); if (!outcome) return 'no';`,
      'decision',
    ),
    {
      isTyped: true,
      code: saga(`const decision = (yield* approval('m', o))!; if (decision as object) return 1;`),
      mistakes: ['decision'],
    },
  ],
};
