/** Lets the browser save what the controller answered, under the name it gave. */
export const saveFile = async (response: Response, name: string): Promise<void> => {
  const given = /filename="?([^";]+)"?/.exec(response.headers.get('content-disposition') ?? '')?.[1];
  const address = URL.createObjectURL(await response.blob());
  const link = document.createElement('a');
  link.href = address;
  link.download = given ?? name;
  link.click();
  URL.revokeObjectURL(address);
};
