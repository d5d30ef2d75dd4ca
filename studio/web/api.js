// api.js talks to the server: JSON below /api/ and the stream of events.

// A Failed is an answer of 400 and above: the Failure of the server, or offline.
export class Failed extends Error {
  constructor(status, body) {
    super(body.error || "ccm studio returned " + status);
    Object.assign(this, { status, code: body.code || "", hint: body.hint || "", body });
  }
}

// call asks the server. Without a body it is a GET. When nobody answers, it throws a Failed
// with the code offline; without a session, with the code login.
export async function call(path, body) {
  let res;
  try {
    res = await fetch(path, body === undefined ? {} : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
  } catch {
    throw new Failed(0, { error: "ccm studio does not respond", code: "offline" });
  }
  if (res.status === 204) return null;
  let answer = null;
  try { answer = await res.json(); } catch { answer = { error: "ccm studio returned invalid JSON" }; }
  if (!res.ok) throw new Failed(res.status, res.status === 401 ? { ...answer, code: "login" } : answer);
  return answer;
}

export const get = (path, query) => call(query ? path + "?" + new URLSearchParams(query) : path);

// listen calls on(name, data) for each event. The browser connects again by itself; state is
// told open and closed. The server does not tell the client what it asked for itself.
export function listen(client, on, state) {
  let source;
  const names = ["hello", "state", "disk", "files", "plan", "plan-end", "test-end", "trust", "bye"];
  const connect = () => {
    source = new EventSource("/api/events?client=" + client);
    source.onopen = () => state(true);
    source.onerror = () => {
      state(false);
      if (source.readyState === EventSource.CLOSED) setTimeout(connect, 1500);
    };
    for (const name of names) source.addEventListener(name, e => on(name, JSON.parse(e.data)));
  };
  connect();
}
