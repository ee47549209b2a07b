package simulator

import (
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
)

// maxControlBody bounds what the control port reads, in bytes.
const maxControlBody = 1 << 20

// control is the port through which tests and people steer the simulator.
func (s *Simulator) control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /stats", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.Stats()) })
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, http.StatusOK, s.faults.list()) })
	mux.HandleFunc("PUT /faults", s.putFaults)
	mux.HandleFunc("DELETE /faults", func(w http.ResponseWriter, _ *http.Request) {
		s.ClearFaults()
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("POST /receipts", s.postReceipt)
	mux.HandleFunc("POST /inbound", s.postInbound)
	return mux
}

func (s *Simulator) putFaults(w http.ResponseWriter, r *http.Request) {
	var rules []Rule
	if err := readStrict(w, r, &rules); err != nil {
		refuse(w, err)
		return
	}
	if err := s.SetFaults(rules); err != nil {
		refuse(w, err)
		return
	}
	writeJSON(w, http.StatusOK, s.faults.list())
}

func (s *Simulator) postReceipt(w http.ResponseWriter, r *http.Request) {
	var report Report
	if err := readStrict(w, r, &report); err != nil {
		refuse(w, err)
		return
	}
	if err := s.Report(r.Context(), report); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// readStrict decodes a body, refusing what it does not know.
func readStrict(w http.ResponseWriter, r *http.Request, into any) error {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxControlBody))
	if err != nil {
		return err
	}
	return json.Unmarshal(body, into, json.RejectUnknownMembers(true))
}

func refuse(w http.ResponseWriter, err error) {
	writeJSON(w, http.StatusUnprocessableEntity, map[string]string{"error": err.Error()})
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	body, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(body, '\n'))
}
