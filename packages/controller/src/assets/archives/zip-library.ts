import { configure, ZipReader, ZipWriter } from '@zip.js/zip.js';

// We use no worker threads, so the library's pool of them would only make archives wait for each other: as many slow
// clients as the machine has cores would stop every archive of the controller.
configure({ maxWorkers: 1_000_000 });

export { ZipReader, ZipWriter };
