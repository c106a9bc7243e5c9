import { startPostgres } from './postgres.ts';

/** Vitest's global set-up: one cluster for the whole run, one database for each test controller. */
export default async () => {
  const { url, stop } = await startPostgres();
  process.env['RUSHHOUR_TEST_POSTGRES'] = url;
  return stop;
};
