import { expect } from 'vitest';

/** Matches a refusal by its status and code. */
export const refused = (status: number, code: string) =>
  expect.objectContaining({ status, data: expect.objectContaining({ code }) });
