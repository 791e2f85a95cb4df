// What the server is asked, and what it tells.
import {message} from "./dom.js";

async function answer(asked) {
  const found = await asked;
  const data = await found.json();
  if (!found.ok || data.refused) throw new Error(data.refused ?? "the studio does not answer");
  return data;
}

async function told(asked) {
  try {
    return await answer(asked);
  } catch (error) {
    const gone = error instanceof TypeError;
    message(gone ? "The studio does not answer: is it still running?" : error.message);
    return null;
  }
}

export const get = what => told(fetch(`/api/${what}`));

// The same, of what was asked for before the scripts came; null where it was not, or was refused.
export async function early(what) {
  const asked = self.early?.[what];
  if (!asked) return null;
  delete self.early[what];
  try { return await answer(asked); } catch { return null; }
}

export const post = (what, data) => told(fetch(`/api/${what}`, {
  method: "POST", headers: {"Content-Type": "application/json"}, body: JSON.stringify(data ?? {}),
}));

// use: what the file is for; "" is the table itself.
export const upload = async (file, use = "") => await get(`room?bytes=${file.size}`)
  && told(fetch(`/api/upload?name=${encodeURIComponent(file.name)}&as=${use}`, {method: "POST", body: file}));

// A folder of series, file by file.
export async function uploadFolder(files) {
  let use = "first";
  for (const file of files) {
    if (!await upload(file, use)) return null;
    use = "part";
  }
  return post("folder", {name: files[0].webkitRelativePath?.split("/")[0] ?? ""});
}

export function listen(heard) {
  const events = new EventSource("/api/events");
  for (const name of ["hello", "table", "state", "columns", "progress", "losses", "substitute", "failure"]) {
    events.addEventListener(name, event => heard(name, JSON.parse(event.data)));
  }
}
