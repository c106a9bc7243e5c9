import { afterAll } from 'vitest';
import { startTestController } from './controller.ts';

/** A controller for the tests of one file, closed after them. Await it at the top level of the file. */
export const useTestController = async (...options: Parameters<typeof startTestController>) => {
  const controller = await startTestController(...options);
  afterAll(() => controller.close());
  return controller;
};
