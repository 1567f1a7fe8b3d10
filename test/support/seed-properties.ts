import * as fc from 'fast-check';

// With `PROPERTY_SEED`, properties draw the same cases in each run. CI sets it to a part of the
// commit: a commit that passed passes again, and the next commit draws other cases.
const seed = process.env['PROPERTY_SEED'];
if (seed !== undefined) fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(seed) });
