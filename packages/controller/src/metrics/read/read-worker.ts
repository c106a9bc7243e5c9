import { workerData } from 'node:worker_threads';
import { openReader, type StoreLocation } from '../../store/store.ts';
import { createReadRuns } from '../ingest/open-runs.ts';
import { serveReading } from './read-thread.ts';
import { RunReader } from './run-reader.ts';

const read = await openReader(workerData as StoreLocation);
serveReading(new RunReader(read, createReadRuns(read)));
