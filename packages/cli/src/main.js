#!/usr/bin/env node
import { enableCompileCache } from 'node:module';
import { homedir } from 'node:os';
import { join } from 'node:path';

// JavaScript, because compiling TypeScript takes longer than a call and this file cannot be in the cache that it opens.
const caches = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
enableCompileCache(process.env.NODE_COMPILE_CACHE || join(caches, 'rushhour', 'compile-cache'));
const { main } = await import('./program.ts');
await main(process.argv.slice(2));
