import { homedir } from 'node:os';
import { join } from 'node:path';

const folderOf = (variable: string, fallback: string) =>
  join(process.env[variable] || join(homedir(), fallback), 'rushhour');

/** Where `login` keeps the session. */
export const configFolder = () => folderOf('XDG_CONFIG_HOME', '.config');

/** What can be made again: compiled code and the digest of the routes. */
export const cacheFolder = () => folderOf('XDG_CACHE_HOME', '.cache');
