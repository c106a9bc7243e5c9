import fc from 'fast-check';

// A commit is judged the same each time; RUSHHOUR_TEST_SEED=$RANDOM looks elsewhere.
fc.configureGlobal({ seed: Number(process.env['RUSHHOUR_TEST_SEED'] ?? 1) });
