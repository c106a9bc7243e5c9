export { type Call, type Client, createClient, type Send } from './client.ts';
export { cookieJar } from './cookie-jar.ts';
export { RequestFailed } from './request-failed.ts';
