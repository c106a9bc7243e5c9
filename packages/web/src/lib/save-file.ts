import { saveAs } from './save-as.ts';

/** Lets the browser save what the controller answered, under the name it gave. */
export const saveFile = async (response: Response, name: string): Promise<void> => {
  const given = /filename="?([^";]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  saveAs(await response.blob(), given ?? name);
};
