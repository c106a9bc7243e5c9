/** Tag of tests that some rule must not match; they count neither as attacks nor as harmless traffic. */
export const negativeTag = 'negative-test';

/** Tag of templates that only look for a product. */
export const probeTag = 'detection-only';

export const isNegativeTest = ({ tags }: { readonly tags: string }): boolean =>
  tags.split(',').some((tag) => tag === negativeTag || tag === probeTag);
