import type { FileUpload } from '@rushhour/contract';

export type Category = FileUpload['category'];

const place = 'rushhour.uploads';

interface Remembered {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly changedAt: number;
}

const read = (): Remembered[] => {
  try {
    return JSON.parse(localStorage.getItem(place) ?? '[]');
  } catch {
    return [];
  }
};

const write = (all: readonly Remembered[]) => localStorage.setItem(place, JSON.stringify(all.slice(-50)));

const isOf =
  (file: File) =>
  ({ name, size, changedAt }: Remembered) =>
    name === file.name && size === file.size && changedAt === file.lastModified;

/** Uploads that this browser began and did not end: the same file, chosen again, goes on. */
export const rememberedUploads = (): readonly Remembered[] => read();
export const rememberedId = (file: File): number | undefined => read().find(isOf(file))?.id;
export const rememberUpload = (file: File, id: number) =>
  write([...read(), { id, name: file.name, size: file.size, changedAt: file.lastModified }]);
export const forgetUpload = (file: File) => write(read().filter((one) => !isOf(file)(one)));
export const forgetId = (id: number) => write(read().filter((one) => one.id !== id));
