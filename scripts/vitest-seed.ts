import fc from 'fast-check';

// The same seed every time, so that a commit always gets the same result; RUSHHOUR_TEST_SEED=$RANDOM varies it.
fc.configureGlobal({ seed: Number(process.env['RUSHHOUR_TEST_SEED'] ?? 1) });
