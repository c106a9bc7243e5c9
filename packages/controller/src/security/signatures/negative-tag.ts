/** Tag of tests that some rule must not match; they count neither as attacks nor as harmless traffic. */
export const negativeTag = 'negative-test';

export const isNegativeTest = ({ tags }: { readonly tags: string }): boolean => tags.split(',').includes(negativeTag);
