// What the filter box finds: text in names, or file:line.

import { Kind, type Model, type PlaceIx } from '../model/data';

export type Matcher = (place: PlaceIx) => boolean;

/** `linesByFile`: text alone finds lines and loops by the name of their file too; in a tree the file itself is enough. */
export function matcherFor(model: Model, text: string, linesByFile: boolean): Matcher | null {
  const wanted = text.trim().toLowerCase();
  if (wanted === '') return null;
  const { places } = model;
  const byLine = /^(.*):(\d+)$/.exec(wanted);
  const inFile = (name: string, part: string): boolean => name.toLowerCase().includes(part);
  const inString = places.strings.map((s) => s.toLowerCase().includes(wanted));
  if (byLine && !byLine[1].endsWith(':')) {
    const files = model.files.map((f) => inFile(f.name, byLine[1]));
    const line = Number(byLine[2]);
    return (i) =>
      inString[places.name[i]] ||
      (places.kind[i] >= Kind.Loop &&
        places.file[i] >= 0 &&
        files[places.file[i]] &&
        places.lineFirst[i] <= line &&
        line <= places.lineLast[i] &&
        places.lineFirst[i] > 0);
  }
  const files = model.files.map((f) => inFile(f.name, wanted));
  return (i) =>
    inString[places.name[i]] ||
    (linesByFile && places.kind[i] >= Kind.Loop && places.file[i] >= 0 && files[places.file[i]]);
}
