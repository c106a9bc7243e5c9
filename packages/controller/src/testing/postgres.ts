import { randomUUID } from 'node:crypto';
import pg from 'pg';

/** A new empty database on the test cluster when this run is for PostgreSQL, else nothing. */
export const createDatabase = async (): Promise<string | undefined> => {
  const cluster = process.env['RUSHHOUR_TEST_POSTGRES'];
  if (process.env['RUSHHOUR_TEST_ENGINE'] !== 'postgres' || !cluster) return undefined;
  const name = `t${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client(cluster);
  await client.connect();
  await client.query(`CREATE DATABASE ${name}`);
  await client.end();
  return cluster.replace(/\/postgres$/, `/${name}`);
};
