// The client without the contract: for programs that have the routes from elsewhere and start often.
export { cookieJar } from './cookie-jar.ts';
export { type Client, clientOf, RequestFailed, type Send } from './routes-client.ts';
