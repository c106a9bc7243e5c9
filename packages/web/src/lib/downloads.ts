/** Lets the browser save a blob under a name. */
export const saveAs = (content: Blob, name: string) => {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
};

export const saveJson = (value: unknown, name: string) =>
  saveAs(new Blob([JSON.stringify(value, null, 2)], { type: 'application/json' }), name);

/** Saves a response of the controller; `name` applies when the response gives none. */
export const saveResponse = async (response: Response, name: string): Promise<void> => {
  const given = /filename="?([^";]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  saveAs(await response.blob(), given ?? name);
};
