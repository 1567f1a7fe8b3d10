/** A fake disk: texts by the name of their file. */
const disk = new Map<string, string>();

export const writeFile = async (file: string, text: string): Promise<void> =>
  void disk.set(file, text);
