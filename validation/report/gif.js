/* An animated GIF (version 89a) of pictures of one size:

     const gif = new Gif(width, height); gif.add(imageData.data, milliseconds); gif.blob()

   Each picture has a palette of its own, of its 256 most frequent colours at five bits a channel; pictures of lines and
   plain areas have few more. */

class Gif {
  constructor(width, height) {
    Object.assign(this, {width, height});
    const letters = text => [...text].map(c => c.charCodeAt(0));
    // Without a palette of all pictures; shown for ever again.
    this.parts = [Uint8Array.from([...letters("GIF89a"), ...short(width), ...short(height), 0x70, 0, 0,
                                   0x21, 0xff, 11, ...letters("NETSCAPE2.0"), 3, 1, 0, 0, 0])];
  }

  /** RGBA bytes of a picture, which is shown for so many ms. */
  add(rgba, duration) {
    const {colours, indices} = indexed(rgba), hundredths = Math.max(2, Math.round(duration / 10));
    const bytes = [0x21, 0xf9, 4, 0, ...short(hundredths)];
    bytes.push(0, 0, 0x2c, 0, 0, 0, 0, ...short(this.width), ...short(this.height), 0x87);
    for (let i = 0; i < 256; i++) for (let c = 0; c < 3; c++) bytes.push(i < colours.length ? colours[i][c] : 0);
    bytes.push(8);
    const packed = compressed(indices);
    for (let at = 0; at < packed.length; at += 255) {
      const block = packed.slice(at, at + 255);
      bytes.push(block.length, ...block);
    }
    bytes.push(0);
    this.parts.push(Uint8Array.from(bytes));
  }

  blob() { return new Blob([...this.parts, Uint8Array.of(0x3b)], {type: "image/gif"}); }
}

function short(value) { return [value & 255, value >> 8]; }

/** Up to 256 colours, and which of them each pixel has or comes nearest to. */
function indexed(rgba) {
  const pixels = rgba.length / 4, keys = new Uint16Array(pixels), counts = new Uint32Array(32768);
  const first = new Uint32Array(32768);
  for (let i = 0; i < pixels; i++) {
    const key = rgba[4 * i] >> 3 << 10 | rgba[4 * i + 1] >> 3 << 5 | rgba[4 * i + 2] >> 3;
    keys[i] = key;
    if (!counts[key]++) first[key] = 4 * i;
  }
  const used = [...counts.keys()].filter(key => counts[key]).sort((a, b) => counts[b] - counts[a]);
  const colours = used.slice(0, 256).map(key => rgba.slice(first[key], first[key] + 3));
  const index = new Uint8Array(32768);
  used.forEach((key, i) => {
    if (i < 256) { index[key] = i; return; }
    let least = Infinity;
    colours.forEach((colour, j) => {
      const far = colour.reduce((sum, v, c) => sum + (v - rgba[first[key] + c]) ** 2, 0);
      if (far < least) [least, index[key]] = [far, j];
    });
  });
  return {colours, indices: keys.map(key => index[key])};
}

/** By the algorithm of Welch (1984) as GIF has it: codes of 9 to 12 bits, 256 clears the table, 257 ends. */
function compressed(indices) {
  const CLEAR = 256, END = 257, FULL = 4096, out = [];
  let buffer = 0, filled = 0, size = 9, next = END + 1, table = new Map();
  const write = code => {
    buffer |= code << filled; filled += size;
    while (filled >= 8) { out.push(buffer & 255); buffer >>= 8; filled -= 8; }
  };
  write(CLEAR);
  let code = indices[0];
  for (let i = 1; i < indices.length; i++) {
    const key = code << 8 | indices[i], longer = table.get(key);
    if (longer !== undefined) { code = longer; continue; }
    write(code);
    if (next === FULL) {
      write(CLEAR);
      [size, next, table] = [9, END + 1, new Map()];
    } else {
      table.set(key, next);
      if (next++ === 1 << size) size++;
    }
    code = indices[i];
  }
  write(code); write(END);
  if (filled) out.push(buffer & 255);
  return out;
}
